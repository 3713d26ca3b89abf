"""A ReAct agent that remembers: thought, action, observation, until there is an answer."""
