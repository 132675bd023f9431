"""What the code and the files of a repository tell beyond how they are run."""
