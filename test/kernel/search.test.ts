import { expect } from "chai";
import {
  hasWords,
  rarestWord,
  searchQuery,
  searchWordLengthMax,
  searchWordsMax,
  wordsOf,
} from "../../src/kernel/search.ts";

describe("a search by words", () => {
  const finds = (text: string, query: string) => hasWords(text, searchQuery(query));

  it("compares distinct runs of letters and digits in lower case", () => {
    expect(wordsOf("Blue chair, BLUE table (no. 7)")).to.deep.equal([
      ...["blue", "chair", "table", "no", "7"],
    ]);
    expect(wordsOf("Ｆｕｌｌ-width")).to.deep.equal(["full", "width"]);
    expect(wordsOf(" .,- ")).to.deep.equal([]);
  });

  it("uses only the first words of a text, and the first characters of each", () => {
    const many = Array.from({ length: searchWordsMax + 2 }, (_, place) => `w${String(place)}`);
    expect(wordsOf(many.join(" "))).to.deep.equal(many.slice(0, searchWordsMax));
    expect(wordsOf("x".repeat(searchWordLengthMax + 1))).to.deep.equal([
      "x".repeat(searchWordLengthMax),
    ]);
  });

  it("matches a text if every query word is a prefix of one of its words, in any order", () => {
    expect(finds("Blue chair with arms", "cha blu")).to.equal(true);
    expect(finds("Blue chair with arms", "blue sofa")).to.equal(false);
    expect(finds("Blue chair with arms", "hair")).to.equal(false);
    expect(finds("Blue chair with arms", " - ")).to.equal(false);
    expect(finds("", "blue")).to.equal(false);
  });

  it("looks up the longest word of a query", () => {
    expect(rarestWord(searchQuery("a big sofa or two"))).to.equal("sofa");
    expect(rarestWord(searchQuery("armchair in red"))).to.equal("armchair");
    expect(rarestWord(searchQuery("!"))).to.equal(undefined);
  });
});
