// The page of those who are not in: it comes back to life once a tab of this browser has signed in.
// @ts-check

import { waitForKey } from './key.js';

waitForKey();
