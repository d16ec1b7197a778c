#!/bin/sh
echo done
