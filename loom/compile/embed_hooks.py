#!/usr/bin/env python3
"""Compiles the hooks to bitcode and writes them as a C array: embed_hooks.py CLANG ROOT HOOKS.c OUT.c NAME"""
import subprocess
import sys

clang, root, source, out, name = sys.argv[1:]
bitcode = subprocess.run(
    [clang, "-std=gnu11", "-O2", "-I", root, "-fno-stack-protector", "-fno-ident", "-fPIC", "-emit-llvm", "-c", source, "-o", "-"],
    check=True, stdout=subprocess.PIPE).stdout
with open(out, "w") as file:
    file.write(f"extern const char {name}[], {name}_end[];\n")
    file.write(f'__asm__(".section .rodata\\n.globl {name}\\n.p2align 4\\n{name}:\\n"\n')
    for at in range(0, len(bitcode), 64):
        file.write('\t".byte %s\\n"\n' % ",".join(str(b) for b in bitcode[at:at + 64]))
    # LLVM wants a NUL right behind the buffer; it is not part of it.
    file.write(f'\t".globl {name}_end\\n{name}_end: .byte 0\\n.previous");\n')
