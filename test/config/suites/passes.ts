describe("a suite", () => {
  it("has a test that passes", () => Promise.resolve());
});
