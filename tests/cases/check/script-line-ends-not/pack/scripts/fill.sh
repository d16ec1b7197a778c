#!/bin/sh
echo 'done'
