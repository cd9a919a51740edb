"""Tables of users: opened in any usual form, and read by a declaration of their columns."""
