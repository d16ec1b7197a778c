#!/usr/bin/env bash
shopt -s extglob
for f in !(*.pdf); do echo "${f[@]}"; done
