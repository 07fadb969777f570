/** A page of a list. `hasMore` is only in the list of events, whose `nextCursor` is never null. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly nextCursor: string | null;
  readonly hasMore?: boolean;
}

/**
 * A list. `await`, `catch` and `finally` request the first page; `for await` gives the items of all pages and requests
 * each page when it is needed. Until then, nothing is sent.
 */
export interface Pages<ListPage extends Page<Item>, Item>
  extends Promise<ListPage>, AsyncIterable<Item> {
  /** Gives the pages, one request each. */
  pages(): AsyncIterable<ListPage>;
}

/** Creates a list from the function that requests the page at a cursor; undefined is the first page. */
export function pagesOf<ListPage extends Page<Item>, Item>(
  request: (cursor: string | undefined) => Promise<ListPage>,
): Pages<ListPage, Item> {
  let first: Promise<ListPage> | undefined;
  const firstPage = () => (first ??= request(undefined));
  async function* pages(): AsyncGenerator<ListPage, void, undefined> {
    for (let cursor: string | undefined; ;) {
      const page = await request(cursor);
      yield page;
      if (page.nextCursor === null || page.hasMore === false) return;
      cursor = page.nextCursor;
    }
  }
  async function* items(): AsyncGenerator<Item, void, undefined> {
    for await (const page of pages()) yield* page.data;
  }
  return {
    then: (...callbacks) => firstPage().then(...callbacks),
    catch: (callback) => firstPage().catch(callback),
    finally: (callback) => firstPage().finally(callback),
    [Symbol.toStringTag]: "Pages",
    pages,
    [Symbol.asyncIterator]: items,
  };
}
