"""Models in files: ours, the notebooks', nanoGPT's and minGPT's, and GPT-2 folders. No file can make it run code."""
