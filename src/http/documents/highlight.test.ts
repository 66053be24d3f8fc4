import assert from "node:assert/strict";
import { test } from "node:test";
import { escapeHtml } from "./escapeHtml.ts";
import { highlight } from "./highlight.ts";

const CASES: [language: string, code: string, html: string][] = [
  [
    "ts",
    'const a = "<b>"; // 1',
    '<span class="k">const</span> a = <span class="s">&quot;&lt;b&gt;&quot;</span>; <span class="c">// 1</span>',
  ],
  ["python", "x = None # '", 'x = <span class="k">None</span> <span class="c"># \'</span>'],
  [
    "php",
    "$a = ['it' => 5];",
    '<span class="v">$a</span> = [<span class="s">\'it\'</span> =&gt; <span class="n">5</span>];',
  ],
  [
    "sh",
    'curl https://a/#b "$K" # say',
    'curl https://a/#b <span class="s">&quot;$K&quot;</span> <span class="c"># say</span>',
  ],
  [
    "json",
    '{"a": true, "b": 1.5}',
    '{<span class="s">&quot;a&quot;</span>: <span class="k">true</span>, <span class="s">&quot;b&quot;</span>: <span class="n">1.5</span>}',
  ],
  ["nginx", "proxy_pass <x>;", "proxy_pass &lt;x&gt;;"],
];

for (const [language, code, html] of CASES) {
  test(`highlights ${language} and changes no character`, () => {
    assert.equal(highlight(code, language), html);
    assert.equal(html.replaceAll(/<\/?span[^>]*>/g, ""), escapeHtml(code));
  });
}
