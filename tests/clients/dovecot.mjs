// A real IMAP server (Dovecot), on a folder of its own. Mails reach it by LMTP, as from any mail server.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually, within } from './harness.mjs';

const password = 'open sesame';

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => { socket.destroy(); resolve(true); });
    socket.once('error', () => resolve(false));
  });
}

// One mail to one recipient; fails unless the server has taken it.
async function sendByLmtp(port, from, to, raw) {
  const socket = net.connect(port, '127.0.0.1');
  let rest = '';
  const replies = [];
  let wake = () => {};
  socket.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\r\n');
    rest = lines.pop();
    replies.push(...lines.filter((line) => /^\d{3} /.test(line)));
    wake();
  }).on('error', () => {});
  const reply = async () => {
    while (replies.length === 0) await within(10_000, 'a reply of the LMTP server', new Promise((resolve) => { wake = resolve; }));
    const line = replies.shift();
    if (!/^[23]/.test(line)) throw new Error(`LMTP: ${line}`);
  };
  await reply();
  const body = raw.replace(/\r?\n/g, '\r\n').replace(/^\./gm, '..');
  for (const command of ['LHLO test', `MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, 'DATA', `${body}\r\n.`]) {
    socket.write(`${command}\r\n`);
    await reply();
  }
  socket.end('QUIT\r\n');
}

export async function startDovecot() {
  if (process.getuid() !== 0) throw new Error('Dovecot must be started as root');
  const folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-imap-'));
  chmodSync(folder, 0o755);
  const at = (name) => path.join(folder, name);
  const [imap, lmtp] = [await freePort(), await freePort()];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', at('key.pem'), '-out', at('cert.pem'),
    '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const number = (kind) => Number(execFileSync('id', [kind, 'mail'], { encoding: 'utf8' }));
  mkdirSync(at('mail'));
  chownSync(at('mail'), number('-u'), number('-g'));
  const config = at('dovecot.conf');
  writeFileSync(config, `
base_dir = ${at('run')}
state_dir = ${at('run')}
log_path = ${at('log')}
protocols = imap lmtp
listen = 127.0.0.1
ssl = required
ssl_cert = <${at('cert.pem')}
ssl_key = <${at('key.pem')}
first_valid_uid = 1
recipient_delimiter = +
auth_username_format = %Ln
mail_location = maildir:${at('mail')}/%n
passdb {
  driver = static
  args = password=${password.replaceAll(' ', '_')}
}
userdb {
  driver = static
  args = uid=mail gid=mail home=${at('mail')}/%n allow_all_users=yes
}
service imap-login {
  inet_listener imap {
    port = ${imap}
  }
  inet_listener imaps {
    port = 0
  }
}
service lmtp {
  inet_listener lmtp {
    port = ${lmtp}
  }
}
`);
  let server;
  const start = async () => {
    server = spawn('dovecot', ['-F', '-c', config], { stdio: 'ignore' });
    await eventually('Dovecot to listen', async () => await accepts(imap) && accepts(lmtp));
  };
  const stop = async () => {
    if (!server || server.exitCode !== null) return;
    const gone = once(server, 'exit');
    server.kill('SIGTERM');
    await within(10_000, 'Dovecot to stop', gone);
    // Its children keep connections for a moment.
    await eventually('Dovecot to be gone', async () => !await accepts(imap));
  };
  process.once('exit', () => server?.kill('SIGTERM'));
  await start();
  return {
    url: `imap://localhost:${imap}`,
    password: password.replaceAll(' ', '_'),
    certificate: readFileSync(at('cert.pem'), 'utf8'),
    start,
    stop,
    deliver: (from, to, raw) => sendByLmtp(lmtp, from, to, raw),
    // How many mails of the user nobody has seen yet.
    unseen: (user) => Number(execFileSync('doveadm', ['-c', config, 'search', '-u', user, 'mailbox', 'INBOX', 'UNSEEN'], { encoding: 'utf8' }).split('\n').filter(Boolean).length),
    log: () => readFileSync(at('log'), 'utf8'),
    async close() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
