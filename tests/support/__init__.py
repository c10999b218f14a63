"""What the tests share: plain reference code, sample data and files, runs of the command line."""
