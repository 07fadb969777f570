describe("a suite", () => {
  it("has a test whose promise is rejected, and nothing handles it", () => {
    void Promise.reject(new Error("nobody handles this"));
  });
});
