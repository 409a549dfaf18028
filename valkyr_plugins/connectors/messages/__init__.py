"""Messages to users and systems over HTTP: chats and webhooks."""
