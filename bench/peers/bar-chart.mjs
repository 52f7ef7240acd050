// Bar charts as SVG, for light and dark pages.

const WIDTH = 720;
const LEFT = 150;
const RIGHT = 90;
const BAR = 22;
const GAP = 10;
const TOP = 46;

export function barChart(title, bars) {
  const most = Math.max(...bars.map(({ value }) => value), 1e-9);
  const height = TOP + bars.length * (BAR + GAP) + GAP;
  const rows = bars.map(({ label, value, text }, n) => {
    const y = TOP + n * (BAR + GAP);
    const width = Math.max(1, ((WIDTH - LEFT - RIGHT) * value) / most);
    const colour = label === 'Rhythm' ? '#d9480f' : label === 'raw limit' ? '#868e96' : '#4c6ef5';
    return [
      `<text x="${LEFT - 10}" y="${y + 16}" text-anchor="end">${escaped(label)}</text>`,
      `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="3" fill="${colour}"/>`,
      `<text x="${(LEFT + width + 8).toFixed(1)}" y="${y + 16}">${escaped(text)}</text>`,
    ].join('');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>text{font:14px system-ui,sans-serif;fill:#212529}.title{font-weight:600}.back{fill:#fff}@media(prefers-color-scheme:dark){text{fill:#e9ecef}.back{fill:#1a1b1e}}</style>
<rect class="back" width="100%" height="100%" rx="6"/>
<text class="title" x="16" y="28">${escaped(title)}</text>
${rows.join('\n')}
</svg>
`;
}

const escaped = (text) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
