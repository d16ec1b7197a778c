#!/usr/bin/env bash -e
echo 1
