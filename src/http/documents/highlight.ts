import { escapeHtml } from "./escapeHtml.ts";

// Colours code by a few token kinds. One pattern serves every language of the documentation, because their strings and
// numbers are alike.

const KEYWORDS: Readonly<Record<string, string>> = {
  js: "async|await|case|catch|const|else|export|false|finally|for|from|function|if|import|let|new|null|of|return|switch|throw|true|try|type|undefined|while",
  python: "and|as|def|elif|else|except|False|for|from|if|import|in|None|not|or|raise|return|True|try|while|with",
  php: "array|catch|echo|else|false|foreach|function|if|new|null|return|throw|true|try|use",
  sh: "export",
  sql: "select|from|where|and|or|order by|group by|limit|insert|into|values|update|set|delete|join|on|as|begin|commit",
  json: "true|false|null",
};

const ALIASES: Readonly<Record<string, string>> = {
  ts: "js",
  typescript: "js",
  javascript: "js",
  bash: "sh",
  shell: "sh",
  curl: "sh",
};

const COMMENTS: Readonly<Record<string, string>> = {
  js: String.raw`\/\/[^\n]*`,
  json: String.raw`\/\/[^\n]*`,
  python: String.raw`#[^\n]*`,
  php: String.raw`\/\/[^\n]*`,
  sh: String.raw`(?<=^|\s)#[^\n]*`,
  sql: String.raw`--[^\n]*`,
};

const STRING = String.raw`"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'`;
const TEMPLATE = "`(?:\\\\.|[^`\\\\])*`";
const NUMBER = String.raw`(?<![\w.$:-])\d[\d_]*(?:\.\d+)?n?(?![\w.-])`;
const VARIABLE = String.raw`\$[A-Za-z_]\w*`;

const patterns = new Map<string, RegExp>();

/** Returns code as HTML with spans of the classes c (comment), s (string), k (keyword), n (number) and v (variable). */
export function highlight(code: string, language: string): string {
  const name = ALIASES[language] ?? language;
  if (KEYWORDS[name] === undefined) return escapeHtml(code);
  let html = "";
  let end = 0;
  for (const match of code.matchAll(patternOf(name))) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0];
    html += `${escapeHtml(code.slice(end, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return html + escapeHtml(code.slice(end));
}

function patternOf(language: string): RegExp {
  const known = patterns.get(language);
  if (known !== undefined) return known;
  const strings = language === "js" ? `${STRING}|${TEMPLATE}` : STRING;
  const parts = [
    `(?<c>${COMMENTS[language]})`,
    `(?<s>${strings})`,
    `(?<v>${language === "php" || language === "sh" ? VARIABLE : "(?!)"})`,
    `(?<k>(?<![\\w$.-])(?:${KEYWORDS[language]})(?![\\w-]))`,
    `(?<n>${NUMBER})`,
  ];
  const pattern = new RegExp(parts.join("|"), language === "sql" ? "gim" : "gm");
  patterns.set(language, pattern);
  return pattern;
}
