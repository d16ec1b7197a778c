#!/bin/sh
# read -p asks
while read -r line; do echo "$line"; done < names.txt
