throw new Error("the file was not loaded");
