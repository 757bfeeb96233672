"""Tools with a reference over engines that parse and refuse."""
