"""What a definition must keep beyond its shape, one idea a file; each rule yields Problems."""
