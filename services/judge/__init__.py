"""The judge as a process of its own."""
