"""The studio's pages: a frame that the bundle of `executions/frontend` fills from the API."""
