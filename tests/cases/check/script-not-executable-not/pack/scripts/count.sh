#!/bin/sh
wc -w "$1"
