"""What an author of hidden tests uses, and the pytest plugin that runs them."""
