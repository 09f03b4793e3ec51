// A real mail server (smtp-server) that keeps what it is given, read by a library that is not ours (mailparser).
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { eventually } from './harness.mjs';

// An authority, and a certificate of its own making for `localhost`.
function makeCertificates() {
  const folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-mail-'));
  const at = (name) => path.join(folder, name);
  const openssl = (...args) => execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const newKey = (name) => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', at(name)];
  writeFileSync(at('names'), 'subjectAltName=DNS:localhost\n');
  openssl('req', '-x509', ...newKey('ca.key'), '-out', at('ca.pem'), '-days', '2', '-subj', '/CN=Our own authority');
  openssl('req', ...newKey('server.key'), '-out', at('server.csr'), '-subj', '/CN=localhost');
  openssl('x509', '-req', '-in', at('server.csr'), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2', '-extfile', at('names'), '-out', at('server.pem'));
  return { caFile: at('ca.pem'), key: readFileSync(at('server.key')), cert: readFileSync(at('server.pem')), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const refusal = (code, words) => Object.assign(new Error(words), { responseCode: code });

/**
 * `offersTls`: by STARTTLS; false: it has none.
 * `mails`: what it took, each {from, to, raw, secure, user} and all that mailparser read.
 * `seen`: what it was given, taken or not. `trouble`: address → codes to answer with first, once each, after the message was read;
 * `strangers`: addresses that it does not know. `logins`: whoever tried to log in. `slow`: address → what to wait for before a mail is confirmed.
 */
export async function startMailServer({ offersTls = true } = {}) {
  const tls = makeCertificates();
  const mails = [];
  const seen = [];
  const logins = [];
  const strangers = new Set();
  const trouble = {};
  const slow = {};
  const server = new SMTPServer({
    key: tls.key,
    cert: tls.cert,
    authMethods: ['PLAIN', 'LOGIN'],
    disabledCommands: offersTls ? [] : ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ username, password }, session, done) {
      logins.push({ username, secure: session.secure });
      if (username === 'holdpoint' && password === 'open sesame') return done(null, { user: username });
      return done(refusal(535, '5.7.8 Authentication failed'));
    },
    onRcptTo({ address }, session, done) {
      done(strangers.has(address) ? refusal(550, '5.1.1 No such user here') : null);
    },
    async onData(stream, session, done) {
      try {
        const chunks = [];
        for await (const chunk of stream) chunks.push(chunk);
        const raw = Buffer.concat(chunks);
        const to = session.envelope.rcptTo.map(({ address }) => address).join();
        const mail = { ...await simpleParser(raw), from: session.envelope.mailFrom.address, to, raw: raw.toString('latin1'), secure: session.secure, user: session.user };
        seen.push(mail);
        const code = trouble[to]?.shift();
        if (code) return done(refusal(code, '4.7.1 Come back later'));
        mails.push(mail);
        await slow[to];
        return done();
      } catch (error) {
        return done(error);
      }
    },
  });
  server.on('error', () => {});  // Who does not trust us hangs up.
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    mails,
    seen,
    logins,
    strangers,
    trouble,
    slow,
    caFile: tls.caFile,
    url: `smtp://localhost:${server.server.address().port}`,
    // The mails that `wanted` holds for, once there are `n` of them.
    take: (what, wanted, n = 1, ms = 10_000) => eventually(what, () => {
      const found = mails.filter(wanted);
      return found.length >= n && found;
    }, ms),
    async close() {
      await new Promise((resolve) => { server.close(resolve); });
      tls.remove();
    },
  };
}
