# Counts.
#!/bin/bash
echo 1
