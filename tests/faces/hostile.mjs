// What agents may write into a subject, a brief, a name: markup, links that run, characters that turn a line
// around. Whoever shows it shows text.

/** The one sign that a text has run. */
const RUN = 'globalThis.pwned=1';

export const TEXTS = [
  `<img src=x onerror="${RUN}">`,
  `<script>${RUN}</script>`,
  `<svg onload="${RUN}"><a href="javascript:${RUN}"><text>x</text></a></svg>`,
  `"><iframe srcdoc="<script>parent.pwned=1</script>"></iframe>`,
  `'-${RUN}-'`,
  `<a href="javascript:${RUN}">go on</a>`,
  `[go on](javascript:${RUN}) ![seen](http://flagpost.example/seen.png)`,
  `javascript:${RUN}//`,
  `data:text/html,<script>${RUN}</script>`,
  `{{constructor.constructor('${RUN}')()}} \${${RUN}}`,
  '</style></script><style>*{display:none}</style>',
  '<form action="http://flagpost.example/"><input autofocus onfocus="globalThis.pwned=1">',
  '<meta http-equiv="refresh" content="0;url=http://flagpost.example/">',
  '<base href="http://flagpost.example/"><link rel="stylesheet" href="x.css">',
  'constructor',
  '__proto__',
];

/** Characters that hide what a text says, or turn it around. */
export const HIDDEN = ['\u202e', '\u2066', '\u200f', '\u0007', '\u001b', '\u009b'];
export const TURNED = `let through ${HIDDEN.map((it, n) => `${n}${it}`).join('')}gnp.exe`;

/** What is on a page that only a text can have put there. */
function strangers() {
  const found = document.querySelectorAll(
    'img[src="x"], iframe, form[action*="flagpost.example"], meta[http-equiv=refresh], base, [onerror], [onload], ' +
      '[onfocus], [href^="javascript:" i], [href^="data:text" i], [src*="flagpost.example"], [href*="flagpost.example"], ' +
      'script:not([src]), style',
  );
  return { markup: [...found].map((it) => it.outerHTML), ran: globalThis.pwned };
}

/** The same once all that a text can have begun has had its turn: a picture that cannot be read and a file, which were begun after it, have ended. */
export async function foundStrangers(page) {
  await page.evaluate(async () => {
    const image = new Image();
    const failed = new Promise((done) => (image.onerror = done));
    image.src = 'data:image/png,x';
    await (await fetch('/login/page.css', { cache: 'no-store' })).text();
    await failed;
  });
  return page.evaluate(strangers);
}
