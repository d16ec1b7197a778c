#!/usr/bin/env -S bash -e
echo 1
