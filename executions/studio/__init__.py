"""The studio's pages: an empty page that the bundle of `executions/frontend` fills from the API."""
