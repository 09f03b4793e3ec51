// Takes mail by SMTP, in the clear, and shows its HTML part. That our mails are sound is for tests/clients to judge.
import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { eventually } from '../clients/harness.mjs';

const decode = {
  base64: (text) => Buffer.from(text, 'base64').toString('utf8'),
  'quoted-printable': (text) => Buffer.from(text.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16))), 'latin1').toString('utf8'),
};

function htmlOf(message) {
  const [, boundary] = /boundary="([^"]+)"/.exec(message);
  const part = message.split(`--${boundary}`).find((text) => /^Content-Type: text\/html/im.test(text));
  const [head, ...body] = part.split('\r\n\r\n');
  return decode[/^Content-Transfer-Encoding: (.*)$/im.exec(head)[1].trim()](body.join('\r\n\r\n'));
}

export async function startMailbox() {
  const mails = [];
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    const say = (line) => socket.write(`${line}\r\n`);
    let to;
    let data;
    say('220 mailbox ESMTP');
    createInterface({ input: socket, crlfDelay: Infinity }).on('line', (line) => {
      if (data) {
        if (line !== '.') return data.push(line.replace(/^\./, ''));
        mails.push({ to, raw: data.join('\r\n'), html: htmlOf(data.join('\r\n')) });
        data = undefined;
        return say('250 kept');
      }
      if (line.startsWith('RCPT')) [, to] = /<(.*)>/.exec(line);
      if (line === 'DATA') data = [];
      return say(line === 'DATA' ? '354 go on' : '250 fine');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    mails,
    url: `smtp://127.0.0.1:${server.address().port}`,
    take: (what, wanted) => eventually(what, () => mails.find(wanted)),
    close: () => server.close(),
  };
}
