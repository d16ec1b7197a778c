#!/bin/sh
<<<<<<< HEAD
echo in.
=======
echo out.
>>>>>>> feature
