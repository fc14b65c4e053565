// The page of `tenon inspect --html` without a browser: its script runs on elements that only keep what they hold.
//   node page.js show FILE            prints the elements that FILE draws, all folded parts opened, as HTML
//   node page.js test SOURCE [LIBRARY]  checks the functions of SOURCE, page.html, with or without dagre
'use strict';
const assert = require('assert');
const fs = require('fs');
const vm = require('vm');

const escapes = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'};
const escape = text => String(text).replace(/[&<>"]/g, letter => escapes[letter]);

class Element {
  constructor(tag) {
    Object.assign(this, {tag, attributes: {}, children: [], listeners: {}, parentElement: null});
    this.tagName = tag.toUpperCase();
  }
  get className() {
    return this.attributes.class || '';
  }
  setAttribute(key, value) {
    this.attributes[key] = value;
  }
  append(...children) {
    for (const child of children) {
      if (child instanceof Element) child.parentElement = this;
      this.children.push(child);
    }
  }
  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }
  all() {
    return [this, ...this.children.filter(child => child instanceof Element).flatMap(child => child.all())];
  }
  toString() {
    const attributes = Object.entries(this.attributes).map(([key, value]) => ` ${key}="${escape(value)}"`).join('');
    const inside = this.children.map(child => child instanceof Element ? String(child) : escape(child)).join('');
    return `<${this.tag}${attributes}>${inside}</${this.tag}>\n`;
  }
}

// Runs the scripts of a page on these lines of data; returns its functions, and the body.
function load(page, lines, library) {
  const body = new Element('body');
  const document = {
    body,
    createElement: tag => new Element(tag),
    createElementNS: (space, tag) => new Element(tag),
    getElementById: id => id === 'plan' ? {textContent: lines} : null,
  };
  const context = vm.createContext({document, location: {hash: ''}, addEventListener: () => {}});
  if (library !== undefined) vm.runInContext(library, context);
  for (const [, script] of page.matchAll(/<script>\n([^]*?)<\/script>/g)) {
    if (!script.startsWith('@LAYOUT@')) vm.runInContext(script, context);
  }
  return {context, body};
}

function open(body) {
  for (const element of body.all()) {
    if (element.listeners.toggle !== undefined) element.listeners.toggle();
  }
  return String(body);
}

function show(file) {
  const page = fs.readFileSync(file, 'utf8');
  const data = /<script type="application\/json" id="plan">\n([^]*?)<\/script>/.exec(page);
  process.stdout.write(open(load(page, data[1]).body));
}

// ---- Plans made up ----

function makeStep(number, change) {
  return {step: number, name: 'step', kind: 'kernel', plugin: 'p', kernel: 'k', tactic: '', nodes: 'step',
    expression: '', inputs: '', outputs: 'y f32[1] row-major', type: 'f32', layout: 'row-major', device: 'cpu', stream: 0,
    depth: 0, measured_us: null, low_us: 1e6, median_us: 1e6, high_us: 1e6, operations: null, bytes: null, traits: [],
    sources: [], refusals: [], ...change};
}

function makeLines(steps, change) {
  const lines = [
    {model: 'm', device: 'cpu', fingerprint: 'f', threads: 1, steps: steps.length, plan_bytes: 1, weights_bytes: 1,
      arena_bytes: 1, peak_alive_bytes: 1, scratch_bytes: 1, plugins: [], patches: []},
    {times: 'runs', runs: 9, low_us: 4e6, median_us: 4e6, high_us: 4e6, outside_us: 0, busy: '', ...change},
    ...steps, {network: []},
    {title: 'a title', tenon: '1', written: '', operations_per_second: 100, bytes_per_second: 10}];
  return lines.map(line => JSON.stringify(line)).join('\n');
}

const seconds = count => ({low_us: count * 1e6, median_us: count * 1e6, high_us: count * 1e6});

function test(page, library) {
  const empty = load(page, makeLines([]), library).context;
  const plan = (steps, change) => empty.readPlan(makeLines(steps, change));
  const plain = value => JSON.parse(JSON.stringify(value));
  const cases = {
    tells_times_in_fitting_units() {
      assert.equal(empty.timeText(4.6349e-4), '463 \u00b5s');
      assert.equal(empty.timeText(0.99996e-3), '1 ms');
      assert.equal(empty.timeText(0.0992), '99.2 ms');
      assert.equal(empty.timeText(1.25), '1.25 s');
    },
    amounts_and_bytes_in_thousands() {
      assert.equal(empty.amountText(8.12e11, 'FLOP'), '812 GFLOP');
      assert.equal(empty.amountText(999.6, 'B'), '1 kB');
      assert.equal(empty.amountText(0, 'B'), '0 B');
      assert.equal(empty.bytesText(13.5 * 1048576), '13.5 MiB');
      assert.equal(empty.bytesText(1023.9), '1 KiB');
    },
    limits_count_characters() {
      assert.equal(empty.tail('conv1', 5), 'conv1');
      assert.equal(empty.tail('layer/conv1', 6), '\u2026conv1');
      assert.equal(empty.tail('\u{1F600}\u{1F601}\u{1F602}', 2), '\u2026\u{1F602}');
      assert.equal(empty.cut('\u00e4\u00f6\u00fc', 3), '\u00e4\u00f6\u00fc');
      assert.equal(empty.cut('\u00e4\u00f6\u00fc', 2), '\u00e4\u00f6\u2026');
    },
    shortens_the_first_tensor_of_a_list() {
      assert.equal(empty.tensorText('a b f32[1,64,56] channels last, c i8[2] row-major'), 'f32 1x64x56 channels last');
      assert.equal(empty.tensorText('made sequence'), '');
    },
    finds_a_tensor_anywhere_in_a_list() {
      const list = 'a b f32[1,64] channels last, absent, c i8[2] row-major, made sequence';
      for (const name of ['a b', 'c', 'made']) assert.ok(empty.lists(list, name), name);
      for (const name of ['a', 'b', 'absent', 'channels', '']) assert.ok(!empty.lists(list, name), name);
    },
    lists_the_other_nodes_of_a_step() {
      assert.equal(empty.othersText({name: 'b', nodes: 'a, b, c'}), '+ a, c');
      assert.equal(empty.othersText({name: 'm/b', nodes: 'm/b, m/x/Add, Mul'}), '+ Add, Mul');
      assert.equal(empty.othersText({name: 'b', nodes: 'b'}), '');
      assert.equal(empty.othersText({name: 'copy', nodes: ''}), '');
    },
    control_characters_are_left_out() {
      assert.equal(empty.clean('a\u001b[31m\u007fb\n\tc'), 'a[31mb\n\tc');
      assert.equal(empty.clean('a\u009bb\u202ec\u2066d'), 'abcd');
    },
    the_larger_of_arithmetic_and_bytes_bounds_a_step() {
      const made = plan([makeStep(0, {...seconds(9), operations: 500, bytes: 20}),
        makeStep(1, {...seconds(90), operations: 500, bytes: 200}), makeStep(2, {bytes: 30})]);
      assert.deepEqual(made.steps.map(step => step.floor), [5, 20, 3]);
      assert.equal(made.bestIsOfAStep, false);
    },
    a_faster_step_raises_the_best() {
      const made = plan([makeStep(0, {operations: 110, bytes: 1})]);
      assert.equal(made.bestOperations, 110);
      assert.equal(made.bestIsOfAStep, true);
    },
    lists_the_slowest_first() {
      const made = plan([3, 9, 1, 7, 8, 2].map((count, k) => makeStep(k, {...seconds(count), depth: k === 1 ? 1 : 0})));
      const slowest = empty.findSlowest(made);
      assert.deepEqual(plain(slowest.rows.map(kind => kind.slowest.step)), [4, 3, 0, 5, 2]);
      assert.equal(slowest.all, 5);
    },
    steps_of_one_kind_are_named_by_what_they_share() {
      const names = ['layer0/fc', 'layer1/fc', 'layer12/fc', 'head'];
      const made = plan(names.map((name, k) => makeStep(k, {name, ...seconds(1 + k / 4)})));
      const kinds = empty.findKinds(made.steps);
      assert.deepEqual(plain(kinds.map(kind => [kind.name, kind.count, kind.slowest.step])),
        [['layer*/fc', 3, 2], ['head', 1, 3]]);
      assert.ok(Math.abs(kinds[0].seconds - 3.75) < 1e-9);
    },
    finds_blocks_that_come_again() {
      const layer = ['y f32[1]', 'y f32[2]', 'y f32[3]'];
      const outputs = ['y f32[9]', ...layer, ...layer, ...layer, ...layer, 'y f32[8]'];
      const made = plan(outputs.map((text, k) => makeStep(k, {outputs: text})));
      assert.deepEqual(plain(empty.findRepeats(made.main)), [{first: 1, length: 3, times: 4}]);
      assert.deepEqual(plain(empty.findRepeats(made.main.slice(1, 7))), []); // twice is no pattern
    },
    says_what_could_be_better() {
      const made = plan([makeStep(0, {...seconds(10), bytes: 90}),
        makeStep(1, {...seconds(2), bytes: 1, traits: ['elementwise'], sources: [0]}),
        makeStep(2, {...seconds(3), traits: ['copy']}), makeStep(3, {...seconds(4), bytes: 4}),
        makeStep(4, {...seconds(0.01), traits: ['reference']})], {outside_us: 0.9e6});
      const advice = empty.findAdvice(made);
      assert.equal(advice.length, 3);
      assert.ok(advice[0].text.startsWith('1 step, 4 s, reaches less than half'));
      assert.ok(Math.abs(advice[0].seconds - 3.5) < 1e-9);
      assert.ok(advice[1].text.startsWith('1 step, 3 s, only changes a layout'));
      assert.ok(advice[2].text.includes('elementwise arithmetic after a kernel'));
      assert.deepEqual(plain(advice[2].steps.map(step => step.step)), [1]);
    },
    a_page_says_what_disturbed_its_times() {
      const steps = [makeStep(0, {operations: 200}), makeStep(1, seconds(3)), makeStep(2, {...seconds(2), depth: 1})];
      let text = String(load(page, makeLines(steps), library).body);
      assert.ok(text.includes('2 of 2 steps, 100 % of the time') && !text.includes('busy'));
      assert.ok(text.includes('200 FLOP/s in one of the steps, more than in a large f32 matrix product'));
      text = String(load(page, makeLines(steps, {median_us: 40e6, busy: 'others used 2 of 2 processors'}), library).body);
      assert.ok(text.includes('The machine was busy: others used 2 of 2 processors.'));
      assert.ok(text.includes('A run takes much longer'));
      text = String(load(page, makeLines(steps, {times: 'build'}), library).body);
      assert.ok(text.includes('as measured when it was built') && text.includes('Unknown: the plan was not run.'));
    },
    edges_lead_downwards_and_boxes_stay_apart() {
      let seed = 1;
      const graph = {nodes: [], edges: []};
      for (let k = 0; k < 60; ++k) {
        graph.nodes.push({});
        for (let e = 0; k > 0 && e < 2; ++e) {
          seed = (seed * 69069 + 1) % 4294967296;
          graph.edges.push({from: Math.floor(seed / 65536) % k, to: k});
        }
      }
      empty.layOut(graph);
      for (const edge of graph.edges) {
        assert.ok(graph.nodes[edge.from].y < graph.nodes[edge.to].y);
        assert.ok(edge.points.every((point, k) => k === 0 || point.y >= edge.points[k - 1].y));
      }
      graph.nodes.forEach((a, k) => {
        assert.ok(a.x >= 104 && a.x + 104 <= graph.width && a.y >= 0 && a.y + 72 <= graph.height);
        graph.nodes.slice(0, k).forEach(b => assert.ok(Math.abs(a.y - b.y) >= 72 || Math.abs(a.x - b.x) >= 208));
      });
    },
    a_chain_is_straight() {
      const graph = {nodes: [{}, {}, {}, {}, {}], edges: [0, 1, 2, 3].map(k => ({from: k, to: k + 1}))};
      empty.layOut(graph);
      assert.ok(Math.abs(graph.nodes[0].x - graph.nodes[4].x) < 1e-6);
      const nothing = {nodes: [], edges: []};
      empty.layOut(nothing);
    },
    a_large_plan_is_quick() {
      const layer = k => ['f32[1,64]', 'f32[1,128]', 'f32[1,64]', 'f32[8,8]'][k % 4];
      const steps = Array.from({length: 5000}, (unused, k) => makeStep(k, {name: 'layer' + k, nodes: 'layer' + k,
        outputs: `t${k} ${layer(k)} row-major`, sources: k === 0 ? [] : k % 4 === 3 ? [k - 1, Math.max(0, k - 9)] : [k - 1]}));
      const begin = process.hrtime.bigint();
      const text = open(load(page, makeLines(steps), library).body);
      const took = Number(process.hrtime.bigint() - begin) * 1e-9;
      assert.ok(text.includes('1250 \u00d7 4 steps') && text.includes('<svg'));
      assert.ok(took < 10, `${took} s`); // 1 s on a machine at rest
      return took;
    },
  };
  for (const name in cases) {
    const took = cases[name]();
    console.log(`passed ${name}${took === undefined ? '' : `, ${took.toFixed(2)} s`}`);
  }
}

const [, , mode, file, library] = process.argv;
if (mode === 'show') show(file);
else test(fs.readFileSync(file, 'utf8'), library ? fs.readFileSync(library, 'utf8') : undefined);
