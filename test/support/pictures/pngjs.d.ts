/** The part of pngjs 7 that tests use; the package has no types. */
declare module "pngjs" {
  interface Picture {
    readonly width: number;
    readonly height: number;
    /** The pixels as RGBA, row by row. */
    readonly data: Buffer;
  }

  export const PNG: {
    readonly sync: {
      read(file: Buffer): Picture;
      write(picture: Picture): Buffer;
    };
  };
}
