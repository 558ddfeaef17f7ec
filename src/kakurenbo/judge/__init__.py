"""The judge: a web platform that holds a contest among people. It knows no contest: rulebooks tell all that is particular."""
