// The bodies that callers, receivers and agents rely on, byte for byte: golden/*.json holds each with its ids, times and
// error messages replaced. These files are the promise: when a case fails, mend the server, not the file.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { deployApproval, failsOnce, gate as makeGate, writePoem } from './agents.mjs';
import { startReceiver, startWorld } from './harness.mjs';

const options = { timeout: 60_000 };
const folder = new URL('golden/', import.meta.url);
const everyEvent = ['question_settled', 'session_completed', 'session_failed', 'session_cancelled'];
const nobody = '019a8b3c-0000-7000-8000-000000000000';
let receiver;
let world;
const pinned = new Set();
