"""Reading a site of ours, which is hostile in places."""
