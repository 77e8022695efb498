/* Checks of the C++ programs of this folder; see check.h. */
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>

#define CHECK(...)                                                                                       \
	do {                                                                                             \
		if (!(__VA_ARGS__)) {                                                                    \
			std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
			std::abort();                                                                    \
		}                                                                                        \
	} while (0)

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;
