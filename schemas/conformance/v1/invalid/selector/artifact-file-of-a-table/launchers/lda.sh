#!/bin/bash
set -e
python code/main.py
