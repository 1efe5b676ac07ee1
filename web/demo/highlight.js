/** Python source, coloured: comments, strings and keywords. */

const TOKEN = new RegExp(
  [
    /(?<comment>#.*)/,
    /(?<string>"""[\s\S]*?"""|f?"(?:\\.|[^"\\\n])*")/,
    /\b(?<keyword>and|as|async|await|class|def|del|else|elif|except|finally|for|from|global|if|import|in|is|lambda|None|not|or|raise|return|self|try|while|with|yield)\b/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

/**
 * @param {string} source
 * @returns {DocumentFragment}
 */
export function highlight(source) {
  const fragment = new DocumentFragment();
  let end = 0;
  for (const { 0: text, index, groups = {} } of source.matchAll(TOKEN)) {
    const span = document.createElement("span");
    span.className = Object.keys(groups).find((kind) => groups[kind] !== undefined) ?? "";
    span.textContent = text;
    fragment.append(source.slice(end, index), span);
    end = index + text.length;
  }
  fragment.append(source.slice(end));
  return fragment;
}
