#!/bin/sh
echo hello
read -p 'Name? ' name
