/** The part of pngjs 7 that tests use; the package has no types. */
declare module "pngjs" {
  export const PNG: {
    readonly sync: {
      /** Returns the pixels as RGBA, row by row. */
      read(file: Buffer): {
        readonly width: number;
        readonly height: number;
        readonly data: Buffer;
      };
    };
  };
}
