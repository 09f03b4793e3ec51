// What models use, in words. Pure: no page, no clock.

export const number = (count) => count.toLocaleString('en');

// Cents where they say enough, else two figures that count.
export function dollars(usd) {
  if (usd === 0) return '$0';
  if (usd >= 1) return `$${usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${Number(usd.toPrecision(2)).toFixed(6).replace(/(\.\d\d\d*?)0+$/, '$1')}`;
}

export const tokensText = ({ input_tokens: read, output_tokens: written }) => `${number(read)} tokens in, ${number(written)} out`;
