#!/usr/bin/env bash
print(1)
