import { once } from "node:events";
import { createServer } from "node:net";

describe("a suite", () => {
  it("has a test that leaves a server open", async () => {
    await once(createServer().listen(0, "127.0.0.1"), "listening");
  });
});
