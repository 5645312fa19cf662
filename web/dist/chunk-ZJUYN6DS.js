import{a,b,c}from"./chunk-QLME7EPW.js";import"./chunk-W524GIDX.js";import"./chunk-SA5W2Z3Y.js";import"./chunk-SQE76S5B.js";export{b as Change,c as Changes,a as whole};
