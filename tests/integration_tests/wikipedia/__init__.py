"""Wikipedia, met for real: Debian's MediaWiki, and a server of ours that misbehaves."""
