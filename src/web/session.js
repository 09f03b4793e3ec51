import './shell.js';
