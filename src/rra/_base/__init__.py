"""Small services that every layer uses: files, processes, time, YAML, canonical bytes."""
