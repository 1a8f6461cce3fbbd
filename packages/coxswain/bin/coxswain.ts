#!/usr/bin/env node
import '@coxswain/cli/bin'
