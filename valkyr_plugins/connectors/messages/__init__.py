"""Messages to people and systems over HTTP: chats and webhooks."""
