describe("a suite", () => {
  it("has a test during which its process dies", () => {
    process.kill(process.pid, "SIGKILL");
  });
});
