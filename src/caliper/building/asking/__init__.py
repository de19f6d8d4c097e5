"""The model steps of a build, declared as a benchmark that no command lists."""
