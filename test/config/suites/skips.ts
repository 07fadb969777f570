describe("a suite", () => {
  it("has a test that is not run");
});
